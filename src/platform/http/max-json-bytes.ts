import { ValidateBy } from 'class-validator';

/** At most so many bytes of UTF-8 when it is written as JSON without spaces, which is how it is stored. */
export const MaxJsonBytes = (bytes: number) =>
  ValidateBy({
    name: 'maxJsonBytes',
    constraints: [bytes],
    validator: {
      validate: (value) => value === undefined || Buffer.byteLength(JSON.stringify(value)) <= bytes,
      defaultMessage: (args) => `${args!.property} must have at most ${bytes / 1024} KB as JSON`,
    },
  });
