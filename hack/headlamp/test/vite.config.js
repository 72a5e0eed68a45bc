// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Builds the page of the test.

import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import svgr from 'vite-plugin-svgr'

const folder = (path) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  root: folder('page'),
  define: { global: 'globalThis', 'process.env': {} },
  esbuild: { jsx: 'automatic' },
  // As Headlamp has them.
  envPrefix: 'REACT_APP_',
  plugins: [svgr({ include: '**/*.svg?react' })],
  // The editor is a large part of Headlamp, which the test does not open.
  resolve: { alias: { 'monaco-editor': folder('page/monaco.js') } },
  build: {
    target: 'es2022',
    outDir: folder('../../../_output/headlamp-page'),
    emptyOutDir: true,
    minify: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 100_000,
    // Headlamp imports the texts of a language by its name.
    dynamicImportVarsOptions: { exclude: [] },
  },
})
