#!/bin/busybox sh
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Starts the database. A volume without one gets it first: with the password MYSQL_ROOT_PASSWORD of root, the database
# MYSQL_DATABASE, and what the files *.sql of /docker-entrypoint-initdb.d say. It is what the images of MySQL do.

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
    # A bootstrap knows no privileges before they are read.
    echo "FLUSH PRIVILEGES;"
    echo "CREATE USER root@'%' IDENTIFIED BY '${MYSQL_ROOT_PASSWORD}';"
    echo "GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;"
  } | (serve --bootstrap)

  (serve --skip-networking) &
  server=$!
  until mariadb --socket="${socket}" --execute 'SELECT 1' >/dev/null 2>&1; do
    kill -0 "${server}"
    sleep 1
  done
  if [ -n "${MYSQL_DATABASE:-}" ]; then
    mariadb --socket="${socket}" --execute "CREATE DATABASE \`${MYSQL_DATABASE}\`"
  fi
  for file in /docker-entrypoint-initdb.d/*.sql; do
    [ -e "${file}" ] || continue
    echo "running ${file}"
    mariadb --socket="${socket}" --database="${MYSQL_DATABASE:-}" <"${file}"
  done
  kill "${server}"
  wait "${server}"
  touch "${data}/complete"
fi
serve
