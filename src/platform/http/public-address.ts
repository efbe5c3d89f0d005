import type { AddressInfo } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';

/** Where people and clients reach the service; links in mail and events start with it. */
@Injectable()
export class PublicAddress {
  #port: number;

  constructor(private readonly config: Config) {
    this.#port = config.port;
  }

  /** PUBLIC_URL, else the address it listens on; without a slash at the end. */
  get url(): string {
    const { host, publicUrl } = this.config;
    return publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${this.#port}`;
  }

  /** The port it listens on itself. */
  get port(): number {
    return this.#port;
  }

  /** `PORT=0` takes any free port, known only now. */
  listeningOn({ port }: AddressInfo): void {
    this.#port = port;
  }
}
