import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Puts a compressed copy beside each script and style, so that the service compresses nothing. */
const compressed: Plugin = {
  name: 'compressed',
  async writeBundle({ dir }) {
    const assets = join(dir!, 'assets');
    for (const name of await readdir(assets)) {
      if (/\.(js|css)$/.test(name)) {
        await writeFile(
          join(assets, `${name}.gz`),
          await promisify(gzip)(await readFile(join(assets, name))),
        );
      }
    }
  },
};

export default defineConfig({
  plugins: [react({ jsxImportSource: '#ui' }), compressed],
  build: {
    target: 'es2022',
    // The content security policy allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // For work on the pages beside a running service: npm run dev --workspace clients/dashboard
  server: { proxy: { '/api': process.env.CONSIGLIERE_BASE_URL ?? 'http://127.0.0.1:3000' } },
});
