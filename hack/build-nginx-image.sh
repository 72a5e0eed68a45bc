#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Builds an image of nginx from Debian's packages, as an OCI archive: hack/build-nginx-image.sh <name> <archive>
# Without these packages, the script builds none.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

name=$1 archive=$2
source=hack/images/nginx

if [[ "${archive}" -nt "${source}/entrypoint.sh" && "${archive}" -nt "${source}/nginx.conf" && "${archive}" -nt "${BASH_SOURCE[0]}" ]]; then
  exit
fi

echo "building the image ${name} from Debian's packages"
work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
mkdir -p "${work}"/{unpacked,image/{etc/nginx,usr/{lib,sbin}}}
hack/unpack-debian-packages.sh "${work}/unpacked" busybox-static nginx || {
  status=$?
  ((status == 3)) || exit "${status}"
  echo "no packages of Debian, so no image of nginx"
  exit
}

# The files that run.
from=${work}/unpacked to=${work}/image
cp "${source}/entrypoint.sh" "${to}"
cp "${source}/nginx.conf" "${to}/etc/nginx"
echo 'root:x:0:0:root:/:/bin/busybox' >"${to}/etc/passwd"
echo 'root:x:0:' >"${to}/etc/group"
cp -r "${from}/bin" "${to}"
cp "${from}/usr/sbin/nginx" "${to}/usr/sbin"
# The image has files and no links.
cp -rL "${from}/lib64" "${from}/lib" "${to}"
cp -rL "${from}"/usr/lib/*-linux-gnu "${to}/usr/lib"
rm -rf "${to}"/usr/lib/*-linux-gnu/{gconv,perl*}

_output/tools/ociarchive -name "${name}" -platform "linux/$(go env GOARCH)" -entrypoint '["/entrypoint.sh"]' \
  -output "${archive}" "${to}=/"
