#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Makes a release of a commit in _output/dist: hack/release.sh <image> <image of etcd>
# The first is named without a tag, the second with one. There are the server for linux and its image, the files and the chart that
# install this image, the plugin of kubectl with its manifest for krew, what each program was built from, and checksums of all. The
# same commit makes the same bytes everywhere.
#
# COSIGN_KEY is the file of a private key that "cosign generate-key-pair" writes, COSIGN_PASSWORD its password. With a key, the release
# also has a signature of the checksums, a signed provenance of all files, and the public key.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly DIST=_output/dist
readonly SERVER_PLATFORMS=(linux/amd64 linux/arm64)
readonly PLUGIN_PLATFORMS=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64)

repository=$1 etcd_image=$2
version=$(git describe --tags --always --dirty --match 'v[0-9]*')
created=$(git log -1 --format=%ct)
image=${repository}:${version}

notes=docs/releases/v$(sed -n 's/^const Current = "\(.*\)"$/\1/p' pkg/version/version.go).md
if [[ ! -f "${notes}" ]]; then
  echo "ERROR: the release has no notes: ${notes}"
  exit 1
fi

rm -rf "${DIST}"
mkdir -p "${DIST}"
# The notes are read away from the repository: their links lead to this commit of it.
source=https://$(sed -n 's/^module //p' go.mod)/blob/$(git rev-parse HEAD)
sed -e "s,](\.\./\.\./,](${source}/,g" -e "s,](\.\./,](${source}/docs/,g" "${notes}" >"${DIST}/RELEASE_NOTES.md"
if grep --perl-regexp '\]\((?!https:|#)' "${DIST}/RELEASE_NOTES.md"; then
  echo "ERROR: ${notes} has a link that leads nowhere outside of its folder"
  exit 1
fi

hack/go-build.sh hack/tools ./sbom _output/tools/sbom

# describe writes what the program was built from, beside it or the archive that it is in.
describe() {
  local program=$1 file=$2
  _output/tools/sbom -version "${version}" -created "${created}" -output "${file}.spdx.json" "${program}"
}

# archive packs what is in the folder, with the times and owners of no machine.
archive() {
  local folder=$1 file=$2
  (cd "${folder}" && tar --create --sort=name --mtime="@${created}" --owner=0 --group=0 --numeric-owner --mode='u=rwX,go=rX' -- *) |
    gzip --no-name --best >"${file}"
}

image_archives=()
for platform in "${SERVER_PLATFORMS[@]}"; do
  arch=${platform#*/}
  image_archives+=("${DIST}/modelbox-apiserver-image-${arch}.tar")
  GOARCH=${arch} hack/build-image.sh "${image}" "${image_archives[-1]}"
  cp _output/release/modelbox-apiserver "${DIST}/modelbox-apiserver-linux-${arch}"
  describe "${DIST}/modelbox-apiserver-linux-${arch}" "${DIST}/modelbox-apiserver-linux-${arch}"
done

# A registry has the image for both under one digest.
image=$(_output/tools/ociarchive index -name "${image}" -output "${DIST}/modelbox-apiserver-image.tar" "${image_archives[@]}")
hack/build-install.sh "${image}" "${etcd_image}" "${DIST}"

chart=_output/release/chart
rm -rf "${chart}"
mkdir -p "${chart}"
cp -rL artifacts/chart/modelbox-apiserver "${chart}"
sed -i -e "s,repository: modelbox-apiserver$,repository: ${repository}," -e "s,tag: latest$,tag: \"${version}\"," -e "s,digest: \"\"$,digest: ${image#*@}," \
  "${chart}/modelbox-apiserver/values.yaml"
sed -i -e "s,^appVersion: .*,appVersion: \"${version}\"," "${chart}/modelbox-apiserver/Chart.yaml"
archive "${chart}" "${DIST}/modelbox-apiserver-chart.tgz"

sed "s,VERSION,${version}," artifacts/plugin/krew.yaml >"${DIST}/modelbox.yaml"
for platform in "${PLUGIN_PLATFORMS[@]}"; do
  os=${platform%/*} arch=${platform#*/} suffix=
  [[ "${os}" != windows ]] || suffix=.exe
  folder=_output/release/kubectl-modelbox-${os}-${arch}
  rm -rf "${folder}"
  CGO_ENABLED=0 GOOS=${os} GOARCH=${arch} hack/go-build.sh . ./cmd/kubectl-modelbox "${folder}/kubectl-modelbox${suffix}" \
    -trimpath -buildvcs=false -ldflags "-s -w $(hack/version-ldflags.sh)"
  cp LICENSE "${folder}"
  [[ "${os}" == windows ]] || cp artifacts/plugin/kubectl_complete-modelbox "${folder}"
  archive "${folder}" "${DIST}/kubectl-modelbox-${os}-${arch}.tar.gz"
  describe "${folder}/kubectl-modelbox${suffix}" "${DIST}/kubectl-modelbox-${os}-${arch}"
  sum=$(sha256sum "${DIST}/kubectl-modelbox-${os}-${arch}.tar.gz")
  sed -i "s,SHA256-${os}-${arch}$,${sum%% *}," "${DIST}/modelbox.yaml"
done
if grep SHA256- "${DIST}/modelbox.yaml"; then
  echo "ERROR: artifacts/plugin/krew.yaml has a platform that is not built"
  exit 1
fi

(cd "${DIST}" && sha256sum -- * >SHA256SUMS)
if [[ -n "${COSIGN_KEY:-}" ]]; then
  GOOS='' GOARCH='' hack/go-build.sh hack/signing . _output/tools/signing
  _output/tools/signing -key "${COSIGN_KEY}" -repository "https://$(sed -n 's/^module //p' go.mod)" -commit "$(git rev-parse HEAD)" \
    -version "${version}" -go-version "$(go env GOVERSION)" -image "${image}" -etcd-image "${etcd_image}" "${DIST}"
else
  echo "not signed: COSIGN_KEY is not set"
fi
echo "${version}:"
sed 's/^/  /' "${DIST}/SHA256SUMS"
