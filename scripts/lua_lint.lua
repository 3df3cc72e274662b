-- What a Lua file of the plugin must not do: not load, use a global that is none of Lua's or Neovim's, or grow too long.
--
--   nvim -l scripts/lua_lint.lua FOLDER...

local LONGEST, WIDEST = 300, 120
local KNOWN = { vim = true, _G = true }
for name in pairs(_G) do
  KNOWN[name] = true
end

--- Names that a chunk reads or writes as globals, with the line: LuaJIT's own listing tells them from locals.
local function globals(chunk)
  local util, found = require('jit.util'), {}
  local function walk(proto)
    local info = util.funcinfo(proto)
    for at = 1, info.bytecodes - 1 do
      local code = util.funcbc(proto, at)
      local op = code % 256
      local name = vim.F.npcall(function()
        return require('jit.vmdef').bcnames:sub(op * 6 + 1, op * 6 + 6):match('%S+')
      end)
      if name == 'GGET' or name == 'GSET' then
        local key = util.funck(proto, -math.floor(code / 65536) - 1)
        found[#found + 1] = { key, util.funcinfo(proto, at).currentline, name == 'GSET' }
      end
    end
    for k = -1, -info.gcconsts, -1 do
      local value = util.funck(proto, k)
      if type(value) == 'proto' then
        walk(value)
      end
    end
  end
  walk(chunk)
  return found
end

local wrong = {}
for _, folder in ipairs(arg) do
  for _, file in ipairs(vim.fn.glob(folder .. '/**/*.lua', true, true)) do
    local chunk, trouble = loadfile(file)
    if not chunk then
      wrong[#wrong + 1] = trouble
    else
      for _, use in ipairs(globals(chunk)) do
        if use[3] or not KNOWN[use[1]] then
          wrong[#wrong + 1] = ('%s:%d: global `%s`'):format(file, use[2], use[1])
        end
      end
    end
    -- What a generator has made is as long as what it was made from.
    local lines = file:find('%.gen%.lua$') and {} or vim.fn.readfile(file)
    if #lines > LONGEST then
      wrong[#wrong + 1] = ('%s: %d lines, the limit is %d'):format(file, #lines, LONGEST)
    end
    for row, line in ipairs(lines) do
      if vim.fn.strchars(line) > WIDEST then
        wrong[#wrong + 1] = ('%s:%d: longer than %d characters'):format(file, row, WIDEST)
      end
    end
  end
end
for _, sentence in ipairs(wrong) do
  io.stderr:write(sentence, '\n')
end
os.exit(#wrong == 0 and 0 or 1)
