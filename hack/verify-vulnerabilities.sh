#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Fails when the product calls code with a known vulnerability: hack/verify-vulnerabilities.sh [package...]
# The packages are those of the product by default. GOVULNDB is the URL of another database than the default of govulncheck. If the
# database cannot be reached, the script says so and checks nothing. It fails instead if GOVULNDB or MODELBOX_REQUIRE_VULNDB is set.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# How long the database may take to answer, in seconds. A connection that nothing answers ends after 30.
readonly TIMEOUT=60

govulncheck=${PWD}/_output/tools/govulncheck
(cd hack/tools && go build -o "${govulncheck}" golang.org/x/vuln/cmd/govulncheck)

database=()
[[ -z "${GOVULNDB:-}" ]] || database=(-db "${GOVULNDB}")

# govulncheck says when the database was updated only if it can read that.
versions=$(timeout "${TIMEOUT}" "${govulncheck}" "${database[@]}" -version 2>&1) || true
if [[ "${versions}" != *"DB updated: "* ]]; then
  if [[ -n "${GOVULNDB:-}${MODELBOX_REQUIRE_VULNDB:-}" ]]; then
    echo "ERROR: the vulnerability database cannot be reached${GOVULNDB:+: ${GOVULNDB}}"
    echo "govulncheck -version says:"
    echo "${versions}"
    exit 1
  fi
  echo "the vulnerability database cannot be reached: not checked"
  exit 0
fi

[[ $# -gt 0 ]] || set -- ./...
"${govulncheck}" "${database[@]}" "$@"
