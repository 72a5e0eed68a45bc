// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package jsonname returns the JSON names of the fields of API types.
package jsonname

import (
	"reflect"
	"strings"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Of returns the name of a field in the served version, empty for a field that JSON has inline. Fields of internal types have no tags,
// but the same names.
func Of(f reflect.StructField) string {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case name == "" && f.Type == reflect.TypeFor[metav1.ObjectMeta]():
		return "metadata"
	case name != "" || f.Anonymous || options == "inline":
		return name
	}
	capitals := strings.IndexFunc(f.Name, unicode.IsLower)
	switch {
	case capitals < 0: // an abbreviation alone
		capitals = len(f.Name)
	case capitals > 1: // an abbreviation and the first letter of the next word
		capitals--
	}
	return strings.ToLower(f.Name[:capitals]) + f.Name[capitals:]
}
