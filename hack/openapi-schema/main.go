// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command openapi-schema prints the OpenAPI v2 schema of the served types: what the generator of the apply
// configurations learns list types and keys from.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/openapi"
)

func main() {
	if err := json.NewEncoder(os.Stdout).Encode(schema()); err != nil {
		fmt.Fprintf(os.Stderr, "encoding the OpenAPI schema: %v\n", err)
		os.Exit(1)
	}
}

func schema() *spec.Swagger {
	reference := func(name string) spec.Ref { return spec.MustCreateRef("#/definitions/" + name) }
	definitions := spec.Definitions{}
	for name, definition := range openapi.GetOpenAPIDefinitions(reference) {
		definitions[name] = definition.Schema
		if v2, ok := definition.Schema.Extensions[common.ExtensionV2Schema].(spec.Schema); ok {
			definitions[name] = v2
		}
	}
	return &spec.Swagger{SwaggerProps: spec.SwaggerProps{
		Swagger:     "2.0",
		Info:        &spec.Info{InfoProps: spec.InfoProps{Title: "ModelBox", Version: "v1"}},
		Definitions: definitions,
	}}
}
