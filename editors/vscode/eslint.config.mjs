// What keeps text of others text: no HTML from strings, no code from strings; and what keeps the rest readable.
import tseslint from 'typescript-eslint';

const html = ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'dangerouslySetInnerHTML'].map((property) => ({
  property,
  message: 'Text of the model never becomes HTML; make elements.',
}));

export default tseslint.config(
  { ignores: ['dist/', 'build/', 'node_modules/', 'src/protocol.gen.ts', '*.mjs'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      'no-restricted-properties': ['error', ...html],
      'no-restricted-syntax': ['error', { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: 'Text of the model never becomes HTML; make elements.' }],
      'no-eval': 'error',
      'no-console': 'error',
      'max-lines': ['error', 400],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 4],
      '@typescript-eslint/explicit-function-return-type': ['error', { allowExpressions: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // `return work()` ends a case or a guard here, whatever work gives.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      // It asks of an interface that VS Code's own objects were made by its class.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
    },
  },
  { files: ['test/**'], rules: { '@typescript-eslint/no-floating-promises': 'off', 'max-lines-per-function': 'off' } },
);
