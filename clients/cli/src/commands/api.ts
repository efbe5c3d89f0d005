import type { Command } from 'commander';
import { type Context, define, jsonOf, readInput } from '../command.js';
import { UsageError } from '../errors.js';
import { printJson, printLine, visible } from '../output.js';

interface ApiOptions {
  query?: string[];
  ifMatch?: string;
  idempotencyKey?: string;
  paginate?: boolean;
}

export function api(program: Command): void {
  define(program, {
    usage: 'api <method> <path> [body]',
    summary: 'Call any route of the service; `-` reads the body from standard input',
    options: [
      ['-q, --query <name=value>', 'a query parameter; repeat for more', { repeats: true }],
      ['--if-match <hash>', 'the content hash of what you read'],
      ['--idempotency-key <key>', 'makes the change once, however often it is sent'],
      ['--paginate', 'print each item of all pages on a line'],
    ],
    examples: [
      'consigliere api GET /guardian',
      `consigliere api POST /directive '{"text": "Raise a warning: the printer is out of paper."}'`,
      'consigliere api GET /directives --paginate | jq -r .directiveId',
    ],
    progress: null,
    async run({ client, args, options }: Context<ApiOptions>) {
      const [method = '', path = '', given] = args;
      if (!/^[a-z]+$/i.test(method))
        throw new UsageError(`${method} is no method; use GET, POST, PUT, PATCH or DELETE.`);
      const text = given === '-' ? await readInput('-') : given;
      const pairs = (options.query ?? []).map((one) => {
        const at = one.indexOf('=');
        if (at < 1) throw new UsageError(`${one} is not name=value.`);
        return [one.slice(0, at), one.slice(at + 1)];
      });
      const [plain = '', own] = path.split('?');
      const query: Record<string, string> = {
        ...Object.fromEntries(new URLSearchParams(own)),
        ...Object.fromEntries(pairs),
      };
      const call = client.request(method.toUpperCase(), absolute(plain), {
        query,
        body: text ? jsonOf(text, 'The body') : undefined,
        ifMatch: options.ifMatch,
        idempotencyKey: options.idempotencyKey,
      });
      if (options.paginate) {
        for await (const { items } of call.pages() as AsyncIterable<{ items?: unknown[] }>) {
          if (!items) throw new UsageError(`${path} answers no list.`);
          for (const item of items) printLine(item);
        }
      } else {
        const answer = await call;
        if (typeof answer === 'string') process.stdout.write(`${visible(answer.trimEnd())}\n`);
        else printJson(answer);
      }
    },
  });
}

/** Routes are below /api/pro unless they say otherwise. */
function absolute(path: string): string {
  if (/^https?:/.test(path))
    throw new UsageError('Give the path alone; the address is that of your profile.');
  const rooted = path.startsWith('/') ? path : `/${path}`;
  return /^\/(api|health|\.well-known|metrics|mcp)(\/|\?|$)/.test(rooted) ? rooted : `/api/pro${rooted}`;
}
