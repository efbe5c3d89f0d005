import { BlockList, isIP } from 'node:net';
import { GLOBAL_UNICAST_IPV6, SPECIAL_IPV4, SPECIAL_IPV6 } from './special-addresses.js';

const specialIpv4 = new BlockList();
for (const [first, prefix] of SPECIAL_IPV4) specialIpv4.addSubnet(first, prefix, 'ipv4');

const globalIpv6 = new BlockList();
globalIpv6.addSubnet(GLOBAL_UNICAST_IPV6[0], GLOBAL_UNICAST_IPV6[1], 'ipv6');

const specialIpv6 = new BlockList();
for (const [first, prefix] of SPECIAL_IPV6) specialIpv6.addSubnet(first, prefix, 'ipv6');

/**
 * Whether `address` is one that anybody on the internet reaches and that belongs to one machine (SPECIFICATION,
 * Authentication 8; CONTRACT, Webhooks). Takes a plain IPv4 or IPv6 address, as a resolver or a socket tells it;
 * anything else, a zone included, is not one.
 */
export function isPublicUnicast(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !specialIpv4.check(address, 'ipv4');
    case 6:
      return (
        !address.includes('%') &&
        globalIpv6.check(address, 'ipv6') &&
        !specialIpv6.check(address, 'ipv6') &&
        !isIsatap(address)
      );
    default:
      return false;
  }
}

/** ISATAP (RFC 5214) puts an IPv4 address behind 0:5efe or 200:5efe in any prefix, so no block can name it. */
function isIsatap(address: string): boolean {
  const [head = [], tail] = address.split('::').map(groupsOf);
  const missing = 8 - head.length - (tail?.length ?? 0);
  const groups = tail ? [...head, ...Array<number>(missing).fill(0), ...tail] : head;
  return (groups[4]! & ~0x200) === 0 && groups[5] === 0x5efe;
}

/** The 16-bit groups of one side of `::`; a dotted quad at the end stands for two. */
function groupsOf(side: string): number[] {
  return side
    .split(':')
    .filter(Boolean)
    .flatMap((group) => (group.includes('.') ? [0, 0] : [Number.parseInt(group, 16)]));
}
