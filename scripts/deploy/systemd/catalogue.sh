#!/bin/sh
# Runs one of the operator's commands with the settings of the units, as the user that they are for: the payer for commands
# that read keys. Install it as /usr/local/sbin/catalogue; then `catalogue status`, `catalogue receipts reconcile`. Paths of
# files are those that this user can reach; a relative one begins in /opt/catalogue.
set -eu

case "${1:-}" in
  verify | receipts | check) user=catalogue-payer payer=yes ;;
  *) user=catalogue payer= ;;
esac

exec systemd-run --quiet --wait --collect --pipe \
  --uid="$user" --gid=catalogue --property=UMask=0007 \
  --working-directory=/opt/catalogue --setenv=ENV_FILES=off \
  --property=EnvironmentFile=/etc/catalogue/catalogue.env \
  ${payer:+--property=EnvironmentFile=-/etc/catalogue/payer/payer.env} \
  -- /opt/catalogue/node_modules/node/bin/node --max-semi-space-size=8 --import ./scripts/require-node.mjs scripts/catalogue.ts "$@"
