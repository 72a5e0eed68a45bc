// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/utils/ptr"
)

// quantityPattern is what controller-gen requires of a resource.Quantity.
const quantityPattern = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`

// structural converts a published schema into what a CustomResourceDefinition takes, as controller-gen would have made it
// from the Go types. It leaves out the descriptions: with them the definition would be close to the largest object that
// etcd takes.
func structural(published *spec.Schema) (*apiextensionsv1.JSONSchemaProps, error) {
	if _, isObjectMeta := published.Properties["managedFields"]; isObjectMeta {
		return embeddedMetadata(), nil
	}
	props := &apiextensionsv1.JSONSchemaProps{
		Format: published.Format, Required: published.Required, Pattern: published.Pattern,
		Minimum: published.Minimum, Maximum: published.Maximum,
		MinLength: published.MinLength, MaxLength: published.MaxLength,
		MinItems: published.MinItems, MaxItems: published.MaxItems, MaxProperties: published.MaxProperties,
	}
	if len(published.Type) > 0 {
		props.Type = published.Type[0]
	}
	setOneOf(props, published.OneOf)
	if err := setValues(props, published); err != nil {
		return nil, err
	}
	if err := setChildren(props, published); err != nil {
		return nil, err
	}
	return props, setListAndMapType(props, published)
}

// setOneOf knows the three types of several JSON types that there are: IntOrString, Quantity and RollingUpdate.
func setOneOf(props *apiextensionsv1.JSONSchemaProps, oneOf []spec.Schema) {
	has := func(name string) bool {
		return slices.ContainsFunc(oneOf, func(s spec.Schema) bool { return s.Type.Contains(name) })
	}
	switch {
	case len(oneOf) == 0:
	case has("object"):
		// A structural schema has no value that is either an object or not.
		props.Type, props.XPreserveUnknownFields = "", ptr.To(true)
	default:
		props.Type, props.Format, props.XIntOrString = "", "", true
		if has("number") {
			props.Pattern = quantityPattern
		}
	}
}

// setValues copies the enumeration and the default. Empty defaults are what the generator of OpenAPI says of each Go value
// that is no pointer: in a definition they would be stored with every object.
func setValues(props *apiextensionsv1.JSONSchemaProps, published *spec.Schema) error {
	for _, value := range published.Enum {
		raw, err := json.Marshal(value)
		if err != nil {
			return err
		}
		props.Enum = append(props.Enum, apiextensionsv1.JSON{Raw: raw})
	}
	if published.Default == nil {
		return nil
	}
	raw, err := json.Marshal(published.Default)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc([]string{"{}", `""`, "0", "false"}, func(empty string) bool { return bytes.Equal(raw, []byte(empty)) }) {
		props.Default = &apiextensionsv1.JSON{Raw: raw}
	}
	return nil
}

func setChildren(props *apiextensionsv1.JSONSchemaProps, published *spec.Schema) error {
	for name, property := range published.Properties {
		child, err := structural(&property)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if props.Properties == nil {
			props.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
		}
		props.Properties[name] = *child
	}
	if published.Items != nil && published.Items.Schema != nil {
		items, err := structural(published.Items.Schema)
		if err != nil {
			return fmt.Errorf("items: %w", err)
		}
		items.Default = nil
		props.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: items}
	}
	if published.AdditionalProperties != nil && published.AdditionalProperties.Schema != nil {
		values, err := structural(published.AdditionalProperties.Schema)
		if err != nil {
			return fmt.Errorf("values: %w", err)
		}
		values.Default = nil
		props.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: values}
	}
	return nil
}

// setListAndMapType copies how server-side apply merges. A key of a list has to be required or to have a default.
func setListAndMapType(props *apiextensionsv1.JSONSchemaProps, published *spec.Schema) error {
	if mapType, found := published.Extensions.GetString("x-kubernetes-map-type"); found {
		props.XMapType = &mapType
	}
	listType, found := published.Extensions.GetString("x-kubernetes-list-type")
	if !found {
		return nil
	}
	props.XListType = &listType
	if listType != "map" {
		return nil
	}
	props.XListMapKeys, _ = published.Extensions.GetStringSlice("x-kubernetes-list-map-keys")
	items := props.Items.Schema
	for _, key := range props.XListMapKeys {
		property, found := items.Properties[key]
		if !found {
			return fmt.Errorf("the key %s of the list is no field", key)
		}
		if property.Default == nil && !slices.Contains(items.Required, key) {
			property.Default = &apiextensionsv1.JSON{Raw: []byte(`""`)}
			items.Properties[key] = property
		}
	}
	return nil
}

// embeddedMetadata is what controller-gen makes of metadata inside of an object.
func embeddedMetadata() *apiextensionsv1.JSONSchemaProps {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	texts := apiextensionsv1.JSONSchemaProps{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &text}}
	return &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"annotations": texts, "labels": texts, "name": text, "namespace": text,
		"finalizers": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &text}},
	}}
}

// keepMetadata leaves the metadata of the object itself to the API server.
func keepMetadata(root *apiextensionsv1.JSONSchemaProps) error {
	root.Properties["metadata"] = apiextensionsv1.JSONSchemaProps{Type: "object"}
	return nil
}
