/** How a text is to sound. The same words serve in an instruction ("a formal mail") and in feedback ("more formal"). */
export interface Tone {
  register: 'neutral' | 'formal' | 'friendly';
  length: 'normal' | 'short' | 'long';
}

export const NEUTRAL: Tone = { register: 'neutral', length: 'normal' };

const NOUN =
  '(?:e-?mail|mail|message|note|letter|reply|response|invitation|tone|way|manner|style|version|draft|text)';
const MARKS: readonly (readonly [words: string, tone: Partial<Tone>])[] = [
  ['formal|official|professional|respectful', { register: 'formal' }],
  ['friendly|warm|casual|informal|cheerful|personal|relaxed', { register: 'friendly' }],
  ['short|brief|concise|quick|crisp', { length: 'short' }],
  ['long|detailed|thorough', { length: 'long' }],
];
const ADVERBS: readonly (readonly [word: RegExp, tone: Partial<Tone>])[] = [
  [/\bformally\b/i, { register: 'formal' }],
  [/\b(?:warmly|cheerfully)\b/i, { register: 'friendly' }],
  [/\b(?:briefly|in brief|in (?:one|two) sentences?)\b/i, { length: 'short' }],
  [/\bin detail\b/i, { length: 'long' }],
];
const EXPRESSIONS = [
  ...MARKS.map(
    ([words, tone]) =>
      [
        new RegExp(
          String.raw`\b(?:${words})(?:,? (?:and |but )?\p{L}+){0,2} ${NOUN}\b|\b(?:keep|make) it (?:\p{L}+ )?(?:${words})\b`,
          'iu',
        ),
        tone,
      ] as const,
  ),
  ...ADVERBS,
];

/** The tone that an instruction asks for by the way; "the formal complaint" asks for none. */
export function toneIn(text: string): Tone {
  return EXPRESSIONS.reduce(
    (tone, [expression, change]) => (expression.test(text) ? { ...tone, ...change } : tone),
    NEUTRAL,
  );
}

const SHORT_FORMS: readonly (readonly [short: RegExp, long: string])[] = [
  [/\bcan['’]t\b/gi, 'cannot'],
  [/\bwon['’]t\b/gi, 'will not'],
  [/\bshan['’]t\b/gi, 'shall not'],
  [/(?<=\p{L})n['’]t\b/giu, ' not'],
  [/\bI['’]m\b/g, 'I am'],
  [/\b(I|you|we|they)['’]ve\b/gi, '$1 have'],
  [/\b(I|you|we|they|he|she|it)['’]ll\b/gi, '$1 will'],
  [/\b(you|we|they)['’]re\b/gi, '$1 are'],
  [/\b(I|you|we|they|he|she)['’]d like\b/gi, '$1 would like'],
  [/\blet['’]s\b/gi, 'let us'],
  [/!+/g, '.'],
];

/** Written out, without exclamation: what a formal letter allows. */
export function formalised(text: string): string {
  return SHORT_FORMS.reduce((result, [short, long]) => result.replace(short, long), text);
}
