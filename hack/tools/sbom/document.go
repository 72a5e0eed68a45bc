// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdx/v2/v2_3"
)

const (
	noAssertion = "NOASSERTION"
	// namespace is where documents of this project have their names, each of them one of its own. Nothing has to be there.
	namespace = "https://model.github.com/spdx/"
)

// newDocument describes a program of this name and version, and each module in it.
func newDocument(info *debug.BuildInfo, name, version string, contents []byte, created time.Time) *v2_3.Document {
	checksum := sha256.Sum256(contents)
	digest := hex.EncodeToString(checksum[:])
	program := newPackage("Program", name, version)
	program.PackageFileName = name
	program.PrimaryPackagePurpose = "APPLICATION"
	program.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: digest}}
	program.PackageLicenseDeclared = "Apache-2.0"

	document := &v2_3.Document{
		SPDXVersion:       v2_3.Version,
		DataLicense:       v2_3.DataLicense,
		SPDXIdentifier:    "DOCUMENT",
		DocumentName:      name,
		DocumentNamespace: namespace + name + "-" + digest,
		CreationInfo: &v2_3.CreationInfo{
			Creators: []common.Creator{{CreatorType: "Organization", Creator: "The ModelBox Authors"}},
			Created:  created.UTC().Format(time.RFC3339),
		},
		Packages:      []*v2_3.Package{program},
		Relationships: []*v2_3.Relationship{newRelationship("DOCUMENT", common.TypeRelationshipDescribe, "Program")},
	}
	modules := append([]*debug.Module{{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}}, info.Deps...)
	for i, module := range modules {
		if module.Replace != nil {
			module = module.Replace
		}
		dependency := newPackage(common.ElementID(fmt.Sprintf("Module-%d", i)), module.Path, module.Version)
		dependency.PackageExternalReferences = []*v2_3.PackageExternalReference{{
			Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: "pkg:golang/" + module.Path + "@" + module.Version,
		}}
		document.Packages = append(document.Packages, dependency)
		document.Relationships = append(document.Relationships, newRelationship("Program", common.TypeRelationshipContains, dependency.PackageSPDXIdentifier))
	}
	return document
}

func newPackage(identifier common.ElementID, name, version string) *v2_3.Package {
	return &v2_3.Package{
		PackageName:               name,
		PackageSPDXIdentifier:     identifier,
		PackageVersion:            version,
		PackageDownloadLocation:   noAssertion,
		PackageLicenseConcluded:   noAssertion,
		PackageLicenseDeclared:    noAssertion,
		PackageCopyrightText:      noAssertion,
		IsFilesAnalyzedTagPresent: true,
	}
}

func newRelationship(from common.ElementID, kind string, to common.ElementID) *v2_3.Relationship {
	return &v2_3.Relationship{
		RefA: common.DocElementID{ElementRefID: from}, Relationship: kind, RefB: common.DocElementID{ElementRefID: to},
	}
}
