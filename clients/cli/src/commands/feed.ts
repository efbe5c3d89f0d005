import type { Consigliere, FeedEvent } from '@consigliere/sdk';
import type { Command } from 'commander';
import { type Context, define } from '../command.js';
import { print, printLine, say, styled, time, visible } from '../output.js';

export function feed(program: Command): void {
  define(program, {
    usage: 'feed',
    summary: 'Show what happened, and with --follow what happens',
    options: [
      ['-f, --follow', 'go on as it happens, until Ctrl-C'],
      ['-L, --limit <n>', 'how many of the newest to begin with', { default: 20, number: true }],
    ],
    examples: [
      'consigliere feed --follow',
      'consigliere feed --follow --json | jq -r \'select(.outcome == "failure") | .text\'',
    ],
    progress: null,
    async run({ client, options }: Context<{ follow?: boolean; limit: number }>) {
      const tell = (entry: FeedEvent) => (options.json ? printLine(entry) : print(lineOf(entry)));
      const { limit } = options;
      const newest = await client.feed.list({ limit: Math.min(100, limit) }).toArray({ limit });
      for (const entry of newest.toReversed()) tell(entry);
      if (!options.follow) return;
      for await (const entry of follow(client, newest[0]?.seq ?? 0)) tell(entry);
    },
  }).helpGroup('Every day:');
}

/** Says on standard error when the connection is lost and back. */
export function follow(client: Consigliere, lastEventId: number): AsyncIterable<FeedEvent> {
  let isLost = false;
  return client.feed.stream({
    lastEventId,
    onLost() {
      isLost = true;
      say('The connection is lost. It is tried again until Ctrl-C.');
    },
    onOpen() {
      if (isLost) say('The connection is back; nothing is missing.');
      isLost = false;
    },
  });
}

function lineOf({ at, actor, text, outcome }: FeedEvent): string {
  const style = outcome === 'failure' ? 'red' : outcome === 'denied' ? 'yellow' : undefined;
  const said = visible(text);
  return `${styled('dim', time(at))}  ${styled('cyan', visible(actor.name))}  ${style ? styled(style, said) : said}`;
}
