#!/usr/bin/env node
// npm links a command only where its file is there before anything is built.
await import('./dist/main.js');
