import { expect, it } from 'vitest';
import { isLongCommonPassword } from './long-common-passwords.js';

it.each([
  '1234567890',
  '0987654321',
  '0123456789',
  '9876543210',
  'qwertyuiop',
  'qwertzuiop',
  'poiuytrewq',
  'abcdefghij',
  '1q2w3e4r5t',
  'password123',
  'lovelovelove',
  'blahblahblah',
  'manchester',
  'gunsnroses',
])('knows %s', (password) => {
  expect(isLongCommonPassword(password)).toBe(true);
});

it.each([
  'correct horse battery staple',
  'nineteen pears on a slow train',
  '84719304712058',
  '',
  '🦊🐻🐼🐨🐯🦁🐮🐷🐸🐵',
])('does not know %j', (password) => {
  expect(isLongCommonPassword(password)).toBe(false);
});
