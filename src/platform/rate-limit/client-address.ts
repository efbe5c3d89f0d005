import { isIP } from 'node:net';
import { normalizeIp } from '@nestjs/throttler';
import type { Request } from 'express';

/**
 * The address that a request is counted under. With TRUST_PROXY it is an entry of X-Forwarded-For, which a proxy may
 * write with a port, and a client in front of it as anything at all: what is no address counts as the socket's, so that
 * nobody has a new window for each way to write the same, or for nonsense. IPv6 counts per /64.
 */
export function clientAddress({ ip, socket }: Pick<Request, 'ip' | 'socket'>): string {
  return countedAddress(plainAddress(ip) ?? socket.remoteAddress);
}

/** A plain address as it is counted: one spelling, IPv4-mapped as IPv4, IPv6 as its /64. */
export function countedAddress(address: string | undefined): string {
  return normalizeIp(plainAddress(address) ?? '');
}

/** The address of an entry such as `192.0.2.1:8080`, `[2001:db8::1]:8080` or `fe80::1%eth0`; undefined if it has none. */
function plainAddress(entry: string | undefined): string | undefined {
  const [, inBrackets, beforePort] =
    /^\[(.*)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/.exec(entry?.trim() ?? '') ?? [];
  const [address] = (inBrackets ?? beforePort ?? entry?.trim() ?? '').split('%');
  return isIP(address!) === 0 ? undefined : address;
}
