import { describe, expect, it } from 'vitest';
import { digestOf } from '../../src/features/notifications/compose-mail.js';

const entries = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ title: `Mail ${index}`, blocks: [] }));

function digest(total: number, before: { total: number; listed: number; isAll?: boolean }) {
  const { subject, blocks } = digestOf({
    entries: entries(Math.min(20, total) + before.listed),
    total,
    failed: 0,
    before: { isAll: true, ...before },
    inboxUrl: 'https://consigliere.northwind.example/list',
  });
  return { subject, said: blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : [])) };
}

describe('a digest', () => {
  it('counts all that waits, and says how much of it is new', () => {
    const { subject, said } = digest(1, { total: 7, listed: 7 });
    expect(subject).toBe('8 decisions wait for you (1 new)');
    expect(said).toContain('Of those listed, 7 you were told of before, and nobody has decided them since.');
  });

  it('says nothing of what is new where all of it is', () => {
    expect(digest(1, { total: 0, listed: 0 })).toMatchObject({ subject: '1 decision waits for you' });
    expect(digest(2, { total: 0, listed: 0 })).toMatchObject({ subject: '2 decisions wait for you' });
  });

  it('says how many of them it lists', () => {
    expect(digest(3, { total: 40, listed: 17 })).toMatchObject({
      subject: '43 decisions wait for you (3 new)',
      said: expect.arrayContaining(['This mail lists 20 of them.']),
    });
  });

  it('claims no number that it does not know', () => {
    expect(digest(5, { total: 180, listed: 15, isAll: false })).toMatchObject({
      subject: '185 or more decisions wait for you (5 new)',
    });
  });
});
