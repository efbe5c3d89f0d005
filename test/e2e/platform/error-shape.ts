import { expect } from 'vitest';
import { type Answer } from '../../support/client.js';

/** A line of a stack, or the place in our program that it names. */
const STACK = /\n\s+at |node_modules|\.[jt]s:\d+|file:\/\//;

/** One of the two documented shapes (CONTRACT section 2), and nothing of how the program is made. */
export function expectErrorShape(answer: Answer, shape: 'A' | 'B', context = ''): void {
  const { status, body, headers, text } = answer;
  const where = `${context} answered ${status} ${text.slice(0, 500)}`;
  expect(headers.get('content-type'), where).toMatch(/^application\/json/);
  const requestId = headers.get('x-request-id');
  const known =
    shape === 'A'
      ? ['error', 'reason', 'requestId']
      : ['error', 'reason', 'requestId', 'message', 'status', 'details', 'detailsOmitted'];
  expect(known, where).toEqual(expect.arrayContaining(Object.keys(body)));
  expect(body, where).toMatchObject({ requestId, reason: expect.stringMatching(/^[a-z][a-z_]+$/) });
  const error = shape === 'A' ? body.error : { ...body, code: String(body.error).toUpperCase() };
  expect(error, where).toMatchObject({
    code: expect.stringMatching(/^[A-Z][A-Z_]+$/),
    status,
    message: expect.any(String),
  });
  if (error.code === 'VALIDATION_FAILED') {
    expect(error.details.length, where).toBeGreaterThan(0);
    expect(error.details.length, where).toBeLessThanOrEqual(100);
    for (const fault of error.details) {
      expect(fault, where).toEqual({
        path: expect.any(String),
        rule: expect.any(String),
        message: expect.any(String),
      });
    }
  }
  expectNoStack(text, where);
}

export function expectNoStack(text: string, where: string): void {
  expect(STACK.test(text), where).toBe(false);
}
