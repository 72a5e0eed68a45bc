#!/bin/busybox sh
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Starts the database. A volume without one gets it first: with the database MYSQL_DATABASE, the user MYSQL_USER of the password
# MYSQL_PASSWORD, who may do everything in it, and what the files *.sql of /docker-entrypoint-initdb.d say. It is what the
# images of MySQL do, but for root, who has no password and gets in by the socket only.

set -o errexit -o nounset

data=/var/lib/mysql
socket=/run/mysqld/mysqld.sock

serve() {
  exec /usr/sbin/mariadbd --user=root --datadir="${data}" --socket="${socket}" "$@"
}

mkdir -p "${data}" "${socket%/*}" /tmp
if [ ! -e "${data}/complete" ]; then
  echo "making a new database"
  rm -rf "${data:?}"/*
  {
    # A bootstrap takes a statement a line.
    printf '%s;\n' 'CREATE DATABASE mysql' 'USE mysql' 'SET @auth_root_socket=NULL'
    for part in system_tables performance_tables system_tables_data; do
      cat "/usr/share/mysql/mysql_${part}.sql"
    done
  } | (serve --bootstrap)

  (serve --skip-networking) &
  server=$!
  until mariadb --socket="${socket}" --execute 'SELECT 1' >/dev/null 2>&1; do
    kill -0 "${server}"
    sleep 1
  done
  mariadb --socket="${socket}" --execute "CREATE DATABASE \`${MYSQL_DATABASE}\`;
    GRANT ALL ON \`${MYSQL_DATABASE}\`.* TO '${MYSQL_USER}'@'%' IDENTIFIED BY '${MYSQL_PASSWORD}'"
  for file in /docker-entrypoint-initdb.d/*.sql; do
    [ -e "${file}" ] || continue
    echo "running ${file}"
    mariadb --socket="${socket}" --database="${MYSQL_DATABASE}" <"${file}"
  done
  kill "${server}"
  wait "${server}"
  touch "${data}/complete"
fi
serve
