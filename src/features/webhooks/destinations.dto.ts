import { IsIn, IsString, Length, Matches, ValidateBy, ValidateIf } from 'class-validator';
import { PageFacts } from '../../platform/kernel/pages.dto.js';
import { hasOneReading } from '../../platform/signatures/event-signature.js';
import { SUBSCRIBABLE_EVENTS, type SubscribableEvent } from '../events/event.js';
import type { DestinationStatus } from './destination.entity.js';

const NAMES = SUBSCRIBABLE_EVENTS.join(', ');

/** Body of `POST /webhooks`: a destination whose secret the customer chose. Either `event` or `events`. */
export class RegisterWebhookBody {
  /** The one event to receive. */
  @ValidateIf(({ event, events }: RegisterWebhookBody) => event !== undefined || events === undefined)
  @IsIn(SUBSCRIBABLE_EVENTS, { message: `event, or each of events, must be one of: ${NAMES}` })
  @IsAlone()
  event?: SubscribableEvent;

  /** The events to receive. */
  @ValidateIf(isGiven('events'))
  @AreEvents()
  events?: SubscribableEvent[];

  /** `https`, reachable at public addresses only. */
  @IsString()
  url!: string;

  /** Signs what is sent; 16 to 256 characters. With `whsec_` in front, the rest is padded base64. */
  @Length(16, 256)
  @HasOneReading()
  secret!: string;
}

/** Body of `POST /partner/webhooks`: a destination whose secret is made here. */
export class RegisterPartnerWebhookBody {
  /** One line, to tell destinations apart. */
  @Matches(/^(?=.*\S)\P{Cc}{1,200}$/u, { message: '$property must be one line of 1 to 200 characters' })
  description!: string;

  /** `https`, reachable at public addresses only. */
  @IsString()
  url!: string;

  /** The events to receive. Left out: all but `report.daily`. */
  @ValidateIf(isGiven('events'))
  @AreEvents()
  events?: SubscribableEvent[];
}

/** Body of `POST .../rotate-secret`; it may be empty. */
export class RotateSecretBody {
  /** The new secret, 16 to 256 characters, which no answer shows. Left out: one is made and shown once. */
  @ValidateIf(isGiven('secret'))
  @Length(16, 256)
  @HasOneReading()
  secret?: string;
}

/** A destination; its secret is nowhere. */
export class DestinationView {
  destinationId!: string;
  description!: string;
  url!: string;
  events!: SubscribableEvent[];
  /** active, paused (only a probe is sent now and then) or gone (nothing is sent any more) */
  status!: DestinationStatus;
  /** The version of the API whose events it receives. */
  apiVersion!: string;
  /** Unix milliseconds. */
  createdAt!: number;
  /** Unix milliseconds, to the second. */
  lastDeliveryAt!: number | null;
  /** Deliveries in a row that were given up. */
  consecutiveFailures!: number;
}

/** A new destination with the secret that was made for it; nothing shows it again. */
export class NewDestination extends DestinationView {
  secret!: string;
}

/** A destination after its secret was changed. */
export class RotatedDestination extends DestinationView {
  /** The new secret, which nothing shows again; null when the caller chose it. */
  secret!: string | null;
  /** Until then the secret before it signs as well, Unix milliseconds. */
  previousSecretUntil!: number;
}

export class DestinationPage extends PageFacts {
  items!: DestinationView[];
}

/** Null is a value, and the wrong one; only what is not named at all is left out. */
function isGiven(property: string): (body: object) => boolean {
  return (body) => (body as Record<string, unknown>)[property] !== undefined;
}

function IsAlone(): PropertyDecorator {
  return ValidateBy({
    name: 'isAlone',
    validator: {
      validate: (_event, args) => (args!.object as RegisterWebhookBody).events === undefined,
      defaultMessage: () => 'event and events exclude each other',
    },
  });
}

/** One rule, whatever is wrong: those of the library look at each element of a list of any length, some at each pair. */
function AreEvents(): PropertyDecorator {
  return ValidateBy({
    name: 'areEvents',
    validator: {
      validate: (value) =>
        Array.isArray(value) &&
        value.length >= 1 &&
        value.length <= SUBSCRIBABLE_EVENTS.length &&
        new Set(value).size === value.length &&
        value.every((event) => SUBSCRIBABLE_EVENTS.includes(event)),
      defaultMessage: () => `$property must name one or more, each once, of: ${NAMES}`,
    },
  });
}

/** What is no text at all is the fault of the rule about its length. */
function HasOneReading(): PropertyDecorator {
  return ValidateBy({
    name: 'hasOneReading',
    validator: {
      validate: (secret) => typeof secret !== 'string' || hasOneReading(secret),
      defaultMessage: () => '$property begins with whsec_, so the rest must be padded base64',
    },
  });
}
