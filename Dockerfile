# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY cmd cmd
COPY pkg pkg
COPY hack/go-build.sh hack/build-release.sh hack/version-ldflags.sh hack/
RUN hack/build-release.sh

# hack/build-image.sh builds this stage without a container engine.
# Nothing but the static binary: no shell, no libraries, and no user but this one.
FROM scratch
COPY --from=build /src/_output/release/modelbox-apiserver /modelbox-apiserver
USER 65532:65532
EXPOSE 8443
ENTRYPOINT ["/modelbox-apiserver"]
