/** The modes of the guardian in words that fit into the bar; the page Safety says more. */
const WORDS: Record<string, string> = {
  observe: 'Sends none',
  supervised: 'Asks always',
  guardrailed: 'By orders',
  autonomous: 'Asks little',
  killed: 'Stopped',
  recovering: 'Recovering',
};

export const modeInWords = (mode: string): string => WORDS[mode] ?? mode;
