// What `consigliere mcp` does, without the command line around it.
import { serveStdio } from '@consigliere/mcp';
import { Consigliere } from '@consigliere/sdk';

const client = new Consigliere({ headers: { 'X-Service-Client': 'mcp' } });
serveStdio(client, { names: process.argv.includes('portable') ? 'portable' : 'exact' });
