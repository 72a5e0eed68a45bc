// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"

	provenancev1 "github.com/in-toto/attestation/go/predicates/provenance/v1"
	attestationv1 "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
)

const (
	// payloadType is the media type of an in-toto statement, from https://github.com/in-toto/attestation/tree/main/spec/v1.
	payloadType = "application/vnd.in-toto+json"
	// predicateType is the type of a provenance, from https://slsa.dev/spec/v1.1/provenance.
	predicateType = "https://slsa.dev/provenance/v1"
)

// build is what a release was built from, and how.
type build struct {
	repository, commit, version, goVersion string
	// serverImage is the image of the release with its digest, etcdImage the one that the installation files use.
	serverImage, etcdImage string
}

func (b build) validate() error {
	switch {
	case b.repository == "":
		return errors.New("-repository is required")
	case b.commit == "":
		return errors.New("-commit is required")
	case b.version == "":
		return errors.New("-version is required")
	case b.goVersion == "":
		return errors.New("-go-version is required")
	case !strings.Contains(b.serverImage, "@sha256:"):
		return fmt.Errorf("-image must be an image with its digest, NAME@sha256:HASH, got %q", b.serverImage)
	case b.etcdImage == "":
		return errors.New("-etcd-image is required")
	}
	return nil
}

// newStatement returns an in-toto statement with the SLSA provenance of the files and of the server image, as JSON. The same
// release has the same statement on every machine: it has no times, and names the script that builds it as its builder.
func newStatement(files []releaseFile, build build) ([]byte, error) {
	parameters, err := structpb.NewStruct(map[string]any{
		"repository": build.repository, "version": build.version, "image": build.serverImage, "etcdImage": build.etcdImage,
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the parameters of the build: %w", err)
	}
	provenance := &provenancev1.Provenance{
		BuildDefinition: &provenancev1.BuildDefinition{
			BuildType:          build.repository + "/blob/main/docs/releases/README.md#create-a-release",
			ExternalParameters: parameters,
			ResolvedDependencies: []*attestationv1.ResourceDescriptor{
				{Uri: "git+" + build.repository, Digest: map[string]string{"gitCommit": build.commit}},
				{Uri: "pkg:golang/toolchain@" + build.goVersion, Name: "go"},
			},
		},
		RunDetails: &provenancev1.RunDetails{
			Builder: &provenancev1.Builder{Id: build.repository + "/blob/" + build.commit + "/hack/release.sh"},
		},
	}
	if err := provenance.Validate(); err != nil {
		return nil, fmt.Errorf("the provenance is not valid: %w", err)
	}
	predicate := &structpb.Struct{}
	data, err := protojson.Marshal(provenance)
	if err != nil {
		return nil, fmt.Errorf("encoding the provenance: %w", err)
	}
	if err := protojson.Unmarshal(data, predicate); err != nil {
		return nil, fmt.Errorf("encoding the provenance: %w", err)
	}
	name, digest, _ := strings.Cut(build.serverImage, "@sha256:")
	statement := &attestationv1.Statement{
		Type:          attestationv1.StatementTypeUri,
		PredicateType: predicateType,
		Predicate:     predicate,
		Subject:       []*attestationv1.ResourceDescriptor{{Name: name, Digest: map[string]string{"sha256": digest}}},
	}
	for _, file := range files {
		statement.Subject = append(statement.Subject, &attestationv1.ResourceDescriptor{Name: file.name, Digest: map[string]string{"sha256": file.sha256}})
	}
	if err := statement.Validate(); err != nil {
		return nil, fmt.Errorf("the statement of the provenance is not valid: %w", err)
	}
	return protojson.Marshal(statement)
}
