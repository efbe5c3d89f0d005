// 10,000 changes here, before two processes (test/support/full-size.ts).
await import('../clients/sdk/changes.spec.js');
