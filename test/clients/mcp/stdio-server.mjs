// What `consigliere mcp` does, without the command line around it.
import { serveStdio } from '@consigliere/mcp';
import { Consigliere } from '@consigliere/sdk';

serveStdio(new Consigliere(), { names: process.argv.includes('portable') ? 'portable' : 'exact' });
