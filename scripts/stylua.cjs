// Formats the Lua of a folder, or with --check only says what it would change. Needs @johnnymorganz/stylua.
const fs = require("fs");
const path = require("path");
const { createRequire } = require("module");

const [tools, folder, flag] = process.argv.slice(2);
const lib = createRequire(path.resolve(tools, "x.js"))("@johnnymorganz/stylua");

function luaFiles(at) {
  return fs.readdirSync(at, { withFileTypes: true }).flatMap((entry) => {
    const inside = path.join(at, entry.name);
    if (entry.isDirectory()) return luaFiles(inside);
    return entry.name.endsWith(".lua") ? [inside] : [];
  });
}

// As in stylua.toml, which the library does not read; formatting uses a configuration up.
function configured() {
  const config = lib.Config.new();
  config.column_width = 120;
  config.indent_type = lib.IndentType.Spaces;
  config.indent_width = 2;
  config.quote_style = lib.QuoteStyle.AutoPreferSingle;
  return config;
}

let wrong = 0;
for (const file of luaFiles(folder)) {
  const text = fs.readFileSync(file, "utf8");
  const formatted = lib.formatCode(text, configured(), undefined, lib.OutputVerification.Full);
  if (formatted === text) continue;
  if (flag === "--check") {
    wrong += 1;
    console.error(`${file} is not formatted; run \`make format-editors\``);
  } else {
    fs.writeFileSync(file, formatted);
  }
}
process.exit(wrong ? 1 : 0);
