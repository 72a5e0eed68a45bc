# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Build the program first: hack/build-release.sh
# The image is built from no other image, so there is none to trust or to pin. hack/build-image.sh builds the same without a
# container engine.
# Nothing but the static binary: no shell, no libraries, and no user but this one.
FROM scratch
COPY _output/release/modelbox-apiserver /modelbox-apiserver
USER 65532:65532
EXPOSE 8443
ENTRYPOINT ["/modelbox-apiserver"]
