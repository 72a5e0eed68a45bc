// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package jsonform

import (
	"encoding/json"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// maxYear is the last year that RFC 3339 has.
const maxYear = 9999

// details has the types whose values can lack a JSON form. The functions take a pointer to a value, and return why it has none, empty
// if it has one. They allocate nothing for a value that has one. Every other type that encodes itself as JSON can encode each value
// that a decoder returns.
var details = map[reflect.Type]func(pointer any) string{
	reflect.TypeFor[intstr.IntOrString](): func(pointer any) string {
		return detailOfUnion(int64(pointer.(*intstr.IntOrString).Type), int64(intstr.String))
	},
	reflect.TypeFor[model.RollingUpdate](): func(pointer any) string {
		return detailOfUnion(int64(pointer.(*model.RollingUpdate).Type), int64(model.RollingUpdateObject))
	},
	reflect.TypeFor[modelv1.RollingUpdate](): func(pointer any) string {
		return detailOfUnion(int64(pointer.(*modelv1.RollingUpdate).Type), int64(modelv1.RollingUpdateObject))
	},
	reflect.TypeFor[metav1.Time]():     func(pointer any) string { return detailOfTime(pointer.(*metav1.Time)) },
	reflect.TypeFor[metav1.FieldsV1](): func(pointer any) string { return detailOfFields(pointer.(*metav1.FieldsV1)) },
}

// detailOfUnion returns what is wrong with the type of a union, which selects the field with its value.
func detailOfUnion(got, last int64) string {
	if got >= 0 && got <= last {
		return ""
	}
	return fmt.Sprintf("its type is %d, but must be between 0 and %d", got, last)
}

// detailOfTime returns what is wrong with a time. A time in a later year is encoded, but no client can decode it.
func detailOfTime(value *metav1.Time) string {
	if year := value.UTC().Year(); year < 0 || year > maxYear {
		return fmt.Sprintf("the year is %d, but must be between 0 and %d", year, maxYear)
	}
	return ""
}

// detailOfFields returns what is wrong with managed fields. They are stored as JSON, or as CBOR that MarshalJSON converts.
func detailOfFields(fields *metav1.FieldsV1) string {
	if len(fields.GetRawBytes()) == 0 {
		return ""
	}
	if data, err := fields.MarshalJSON(); err != nil || !json.Valid(data) {
		return "it must be valid JSON"
	}
	return ""
}
