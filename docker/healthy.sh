#!/bin/bash
# Whether the service in this container is ready, asked by bash alone: a Node.js process for each check costs 40 MB and a
# quarter of a second of a processor. HEALTHCHECK in the Dockerfile bounds how long it takes.
set -eu
exec 3<> "/dev/tcp/127.0.0.1/${PORT:-3000}"
printf 'GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
read -r _ status _ <&3
[ "$status" = 200 ]
