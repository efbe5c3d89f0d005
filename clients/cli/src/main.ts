#!/usr/bin/env node
import { Consigliere } from '@consigliere/sdk';
import { Command } from 'commander';

const program = new Command('consigliere').description('Hand in work, decide what waits, stop everything.');

program
  .command('api')
  .description('Call any route of the service.')
  .argument('<method>')
  .argument('<path>')
  .action(async (method: string, path: string) => {
    console.log(JSON.stringify(await new Consigliere().request(method.toUpperCase(), path), null, 2));
  });

await program.parseAsync();
