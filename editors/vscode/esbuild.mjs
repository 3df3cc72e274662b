// Bundles the extension, the chat's page and (with --tests) the unit tests. --production leaves the source maps out.
import { readdirSync, copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

const production = process.argv.includes('--production');
const shared = { bundle: true, logLevel: 'warning', minify: production, sourcemap: production ? false : 'inline' };

if (process.argv.includes('--tests')) {
  rmSync('build/tests', { recursive: true, force: true });
  const tests = readdirSync('test').filter((name) => name.endsWith('.test.ts') || name.endsWith('.test.tsx'));
  await build({
    ...shared,
    entryPoints: tests.map((name) => `test/${name}`),
    outdir: 'build/tests',
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    outExtension: { '.js': '.cjs' },
  });
} else {
  rmSync('dist', { recursive: true, force: true });
  mkdirSync('dist', { recursive: true });
  await build({
    ...shared,
    entryPoints: ['src/extension.ts'],
    outfile: 'dist/extension.js',
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['vscode'],
  });
  await build({
    ...shared,
    entryPoints: { chat: 'view/main.tsx' },
    outdir: 'dist',
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
  });
  copyFileSync('view/chat.css', 'dist/chat.css');
  copyFileSync('node_modules/@vscode/codicons/dist/codicon.css', 'dist/codicon.css');
  copyFileSync('node_modules/@vscode/codicons/dist/codicon.ttf', 'dist/codicon.ttf');
}
