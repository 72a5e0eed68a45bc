// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package openapi_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
)

// few are lists of values of which there are only a few.
var few = []string{"disabledDefaultProbes", "ipFamilies"}

// What is published as the most that a field may have is what is accepted.
func TestLimitsArePublished(t *testing.T) {
	box := &modelv1.ModelBox{Spec: modelv1.ModelBoxSpec{Service: &modelv1.ModelBoxService{}}}
	for _, value := range []reflect.Value{reflect.ValueOf(&box.Spec).Elem(), reflect.ValueOf(box.Spec.Service).Elem()} {
		properties := definitions()[value.Addr().Interface().(interface{ OpenAPIModelName() string }).OpenAPIModelName()].Schema.Properties
		if len(properties) == 0 {
			t.Fatalf("%s is not published", value.Type())
		}
		for i := range value.NumField() {
			name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
			kind := value.Field(i).Kind()
			if isLimited := kind == reflect.Slice || kind == reflect.Map || name == "image"; !isLimited || slices.Contains(few, name) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				maximum := published(properties[name], kind)
				if maximum == 0 {
					t.Fatal("no limit is published")
				}
				for size, want := range map[int64]int{maximum: 0, maximum + 1: 1} {
					fill(value.Field(i), int(size))
					internal := &model.ModelBox{}
					if err := modelv1.Convert_v1_ModelBox_To_model_ModelBox(box, internal, nil); err != nil {
						t.Fatal(err)
					}
					if errs := validation.ValidateLimits(internal); len(errs) != want {
						t.Errorf("%d: got %d errors, want %d: %v", size, len(errs), want, errs)
					}
				}
				value.Field(i).SetZero()
			})
		}
	}
}

// published returns the limit of a list, a map or a string, 0 where there is none.
func published(schema spec.Schema, kind reflect.Kind) int64 {
	maximum := schema.MaxLength
	switch kind {
	case reflect.Slice:
		maximum = schema.MaxItems
	case reflect.Map:
		maximum = schema.MaxProperties
	}
	if maximum == nil {
		return 0
	}
	return *maximum
}

func fill(value reflect.Value, size int) {
	switch value.Kind() {
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), size, size))
	case reflect.Map:
		value.Set(reflect.MakeMap(value.Type()))
		for i := range size {
			value.SetMapIndex(reflect.ValueOf(fmt.Sprint(i)), reflect.ValueOf(""))
		}
	default:
		value.SetString(strings.Repeat("x", size))
	}
}
