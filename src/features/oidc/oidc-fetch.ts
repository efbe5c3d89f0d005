import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { CustomFetch } from 'openid-client';
import { Agent } from 'undici';
import { Config } from '../../platform/config/config.js';
import { hostPort } from '../../platform/outbound/destination-rules.js';

/** Milliseconds until a connection stands; openid-client bounds the whole exchange. */
const CONNECT_MS = 3_000;
const HEADER_BYTES = 16 * 1024;
/** Metadata and key sets of large providers have some ten kilobytes. */
const ANSWER_BYTES = 256 * 1024;

/** The provider did not answer, or with nothing that could be used. */
export class ProviderUnreachable extends Error {
  constructor(why: string, cause?: unknown) {
    super(why, { cause });
    this.name = 'ProviderUnreachable';
  }
}

/**
 * Requests to the provider that the operator named. It may stand in a private network, so its address is not looked at; but
 * each request goes by https (or to what OUTBOUND_ALLOW lists), takes bounded time and memory, unpacks nothing and
 * follows no redirect: that would carry the client's secret on.
 */
@Injectable()
export class OidcFetch implements OnApplicationShutdown {
  readonly #agent = new Agent({
    // Not to be switched off from the environment.
    connect: { timeout: CONNECT_MS, rejectUnauthorized: true },
    maxHeaderSize: HEADER_BYTES,
    keepAliveTimeout: 2_000,
    keepAliveMaxTimeout: 2_000,
  });

  constructor(private readonly config: Config) {}

  /** @throws ProviderUnreachable */
  readonly fetch: CustomFetch = async (address, { method, headers, body, signal }) => {
    const url = new URL(address);
    if (url.protocol !== 'https:' && !this.config.outboundAllow.includes(hostPort(url))) {
      throw new ProviderUnreachable(`${url.origin} is neither https nor listed in OUTBOUND_ALLOW`);
    }
    try {
      const answer = await this.#agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: method as 'GET' | 'POST',
        headers: { ...headers, 'accept-encoding': 'identity' },
        body: body === undefined || body === null ? null : String(body as URLSearchParams),
        signal: signal ?? null,
      });
      const bytes = await wholeOf(answer.body);
      if (answer.statusCode >= 500 || answer.statusCode === 429) {
        throw new ProviderUnreachable(`${url.origin} answered with status ${answer.statusCode}`);
      }
      return new Response(bytes.length === 0 ? null : bytes, {
        status: answer.statusCode,
        headers: pairsOf(answer.headers),
      });
    } catch (error) {
      if (error instanceof ProviderUnreachable) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      throw new ProviderUnreachable(`${url.origin}: ${code ?? message}`, error);
    }
  };

  async onApplicationShutdown(): Promise<void> {
    await this.#agent.destroy();
  }
}

async function wholeOf(body: AsyncIterable<Buffer>): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    // Leaving the loop ends the connection.
    if (length > ANSWER_BYTES)
      throw new ProviderUnreachable(`the answer has more than ${ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function pairsOf(headers: Record<string, string | string[] | undefined>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): [string, string] => [name, each]),
  );
}
