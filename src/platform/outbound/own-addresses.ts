import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { PublicAddress } from '../http/public-address.js';
import { hostPort } from './destination-rules.js';

const ANY_OR_LOOPBACK = ['0.0.0.0', '[::]', '127.0.0.1', '[::1]', 'localhost'];

/** Where this service is reached: no event goes there, whatever else is allowed. */
@Injectable()
export class OwnAddresses {
  constructor(
    private readonly config: Config,
    private readonly address: PublicAddress,
  ) {}

  /** Each as `host:port`. Asked anew each time, since the port may be known only once the process listens. */
  list(): string[] {
    const { host } = this.config;
    const written = host.includes(':') ? `[${host}]` : host;
    // All of these addresses reach the service, however it listens.
    const hosts = ANY_OR_LOOPBACK.includes(written) ? ANY_OR_LOOPBACK : [written];
    const urls = [this.address.url, ...hosts.map((each) => `http://${each}:${this.address.port}`)];
    return urls.map((url) => hostPort(new URL(url)));
  }
}
