import { z } from 'zod';

/** The details of errors, each described for the OpenAPI document, with an example. */
export const text = (description: string, example: string) => z.string().meta({ description, example });
export const texts = (description: string, example: readonly string[]) =>
  z.array(z.string()).meta({ description, example });
export const count = (description: string, example: number) =>
  z.int().nonnegative().meta({ description, example });

/** A DTO that the document describes by this name. */
export const record = <Dto>(description: string, name: string) =>
  z.custom<Dto>().meta({ description, $ref: `#/components/schemas/${name}` });

/** Beside "there may be no more". */
export const LIMIT = z.object({ limit: count('How many there may be.', 50) });

/** Beside "not any more". */
export const STATUS = z.object({ status: text('The status that it has.', 'rejected') });

/** Beside "not what you have read". */
export const CONTENT_HASH = z.object({
  contentHash: text('The hash of the draft as it is now.', 'ab'.repeat(32)).nullable(),
});

/** One fault of a request. */
export const FAULT = z.object({
  path: text('Where in the body, query or path.', 'packets.0.params.to'),
  rule: text('The rule that does not hold.', 'isEmail'),
  message: text('What is wrong, for a person.', 'to must be an email'),
});
