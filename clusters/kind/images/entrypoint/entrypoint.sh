#!/bin/sh
# Entrypoint of the Postgres image made of Debian's packages. It takes the environment of the official image (POSTGRES_PASSWORD, POSTGRES_USER, POSTGRES_DB, POSTGRES_INITDB_ARGS, PGDATA),
# so that one manifest serves both, but needs neither root nor a writable root file system. A database that was killed while it was first set up is set up anew.
set -eu

case "${1:-postgres}" in
-*) set -- postgres "$@" ;;
postgres) [ $# -gt 0 ] || set -- postgres ;;
*) exec "$@" ;;
esac

fail() {
	echo "postgres entrypoint: $*" >&2
	exit 1
}

: "${PGDATA:=/var/lib/postgresql/data}"
: "${POSTGRES_USER:=postgres}"
: "${POSTGRES_DB:=$POSTGRES_USER}"
export PGDATA
new="$PGDATA/initialising"

[ "$(id -u)" != 0 ] || fail "Postgres does not run as root; set runAsUser to 999"
mkdir -p "$PGDATA" 2>/dev/null && [ -w "$PGDATA" ] || fail "user $(id -u) cannot write $PGDATA; mount a volume there that it may write (fsGroup, or PGDATA in a directory of its own)"
chmod 0700 "$PGDATA" 2>/dev/null || fail "$PGDATA belongs to another user, and Postgres insists on its own; set PGDATA to a directory below the volume"

# PG_VERSION is moved out of $new last: with it the database is complete, and without it there is nothing that anybody was told is safe.
if [ ! -s "$PGDATA/PG_VERSION" ]; then
	if [ -d "$new" ]; then
		find "$PGDATA" -mindepth 1 -maxdepth 1 ! -name lost+found ! -path "$new" -exec rm -rf {} +
		rm -rf "$new"
	fi
	[ -z "$(find "$PGDATA" -mindepth 1 -maxdepth 1 ! -name lost+found)" ] || fail "$PGDATA is not empty and no database"
	[ -n "${POSTGRES_PASSWORD:-}" ] || fail "POSTGRES_PASSWORD is not set"
	echo "postgres entrypoint: setting up a database in $PGDATA" >&2
	mkdir -m 0700 "$new"
	umask 077
	printf '%s\n' "$POSTGRES_PASSWORD" >"$PGDATA/password"
	# shellcheck disable=SC2086 # several arguments
	initdb -D "$new" -U "$POSTGRES_USER" --encoding=UTF8 --locale=C.UTF-8 --auth-local=trust --auth-host=scram-sha-256 --pwfile="$PGDATA/password" --no-sync ${POSTGRES_INITDB_ARGS:-} >/dev/null
	rm "$PGDATA/password"
	printf "listen_addresses = '*'\n" >>"$new/postgresql.conf"
	printf 'host all all all scram-sha-256\n' >>"$new/pg_hba.conf"
	if [ "$POSTGRES_DB" != postgres ]; then
		printf 'CREATE DATABASE "%s"\n' "$(printf %s "$POSTGRES_DB" | sed 's/"/""/g')" | postgres --single -D "$new" -c fsync=off -c log_checkpoints=off postgres >/dev/null
	fi
	find "$new" -mindepth 1 -maxdepth 1 ! -name PG_VERSION -exec mv {} "$PGDATA/" \;
	initdb --sync-only -D "$PGDATA" >/dev/null
	mv "$new/PG_VERSION" "$PGDATA/"
	sync "$PGDATA/PG_VERSION" "$PGDATA"
fi
rmdir "$new" 2>/dev/null || true

exec "$@"
