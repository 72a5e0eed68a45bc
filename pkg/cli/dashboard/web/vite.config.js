// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// packageOf returns the folder of the npm package that a module is of, undefined for a module of the page itself.
function packageOf(module) {
  if (!module.includes('/node_modules/')) return undefined
  let folder = dirname(module.split('?')[0].replace(/^\0/, ''))
  while (!existsSync(join(folder, 'package.json')) || !JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version) {
    folder = dirname(folder)
  }
  return folder
}

// licenses writes the licenses of the npm packages that the page has parts of.
function licenses() {
  const folders = new Set()
  return {
    name: 'licenses',
    moduleParsed({ id }) {
      const folder = packageOf(id)
      if (folder) folders.add(folder)
    },
    generateBundle() {
      const texts = new Map()
      for (const folder of folders) {
        const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
        const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
        if (!file) this.error(`${name} has no file with its license`)
        texts.set(`${name} ${version}`, `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`)
      }
      const source = [...texts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text).join(`\n${'-'.repeat(80)}\n\n`)
      this.emitFile({ type: 'asset', fileName: 'THIRD_PARTY_LICENSES.txt', source })
    },
  }
}

export default defineConfig({
  plugins: [react(), licenses()],
  build: {
    target: 'es2022',
    // The policy of the page allows no data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    rollupOptions: {
      // The server lets no browser keep a file, so its name does not have to tell its content.
      output: { entryFileNames: 'assets/[name].js', chunkFileNames: 'assets/[name].js', assetFileNames: 'assets/[name][extname]' },
    },
  },
})
