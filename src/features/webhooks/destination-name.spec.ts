import { describe, expect, it } from 'vitest';
import { atTheBeginning, destinationName, inASentence } from './destination-name.js';

const destinationId = 'whk_01kerr2kg0xaen9f9sdsg8py4z';
const url = 'https://eo1x2.receiver.example/in?key=s3cret';

describe('destinationName', () => {
  it.each([
    ['its description', 'ERP of Acme', 'ERP of Acme', 'the webhook destination "ERP of Acme"'],
    [
      'its id where it has none',
      '',
      `Webhook destination ${destinationId}`,
      `the webhook destination ${destinationId}`,
    ],
    [
      'its id where the address describes it',
      url,
      `Webhook destination ${destinationId}`,
      `the webhook destination ${destinationId}`,
    ],
  ])('is %s', (_what, description, name, sentence) => {
    const destination = { destinationId, description, url };
    expect(destinationName(destination)).toBe(name);
    expect(inASentence(destination)).toBe(sentence);
    expect(atTheBeginning(destination)).toBe(sentence.replace('the', 'The'));
  });

  it('is cut within a sentence, between two characters', () => {
    const sentence = inASentence({ destinationId, description: '🎩'.repeat(200), url });
    expect(sentence).toMatch(/^the webhook destination "🎩{49}…"$/u);
  });
});
