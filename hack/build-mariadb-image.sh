#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Builds an image of a database from Debian's packages, as an OCI archive: hack/build-mariadb-image.sh <name> <archive>
# It starts as images of MySQL do, see hack/images/mariadb/entrypoint.sh. Without these packages, the script builds none.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

name=$1 archive=$2
entrypoint=hack/images/mariadb/entrypoint.sh

if [[ "${archive}" -nt "${entrypoint}" && "${archive}" -nt "${BASH_SOURCE[0]}" ]]; then
  exit
fi

echo "building the image ${name} from Debian's packages"
work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
mkdir -p "${work}"/{unpacked,image/{etc,usr/{bin,sbin,share/mysql}}}
hack/unpack-debian-packages.sh "${work}/unpacked" busybox-static mariadb-client-core mariadb-server-core || {
  status=$?
  ((status == 3)) || exit "${status}"
  echo "no packages of Debian, so no image of a database"
  exit
}

# The files that run.
from=${work}/unpacked to=${work}/image
cp "${entrypoint}" "${to}/entrypoint.sh"
echo 'root:x:0:0:root:/:/bin/busybox' >"${to}/etc/passwd"
cp -r "${from}/bin" "${to}"
cp "${from}/usr/bin/mariadb" "${to}/usr/bin"
cp "${from}/usr/sbin/mariadbd" "${to}/usr/sbin"
cp -r "${from}"/usr/share/mysql/{*.sql,english,charsets} "${to}/usr/share/mysql"
# The image has files and no links.
cp -rL "${from}/lib64" "${to}"
cp -rL "${from}/lib" "${from}/usr/lib" "${to}"

_output/tools/ociarchive -name "${name}" -platform "linux/$(go env GOARCH)" -entrypoint '["/entrypoint.sh"]' \
  -output "${archive}" "${to}=/"
