// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"encoding/json"
	"fmt"
	"reflect"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

const (
	// What is told of what a user gave, in bytes.
	maxFieldBytes  = 256
	maxValueBytes  = 128
	maxDetailBytes = 512

	// maxToldBytes keeps the response to a box that is refused below 64 KiB. It is the size of all errors in JSON, each
	// of which is there twice: in the message, and as a cause.
	maxToldBytes = 56 << 10

	ellipsis = "..."
)

// TruncateErrors returns the errors as a user is told of them: at most validate.MaxErrors, with what the user gave cut where it is long.
// Together they are small enough for a response of 64 KiB. Where some are left out, the last one says so.
func TruncateErrors(errs field.ErrorList) field.ErrorList {
	var told field.ErrorList
	size := 0
	for _, err := range errs {
		err = shortened(err)
		size += toldBytes(err)
		if len(told) == validate.MaxErrors || size > maxToldBytes {
			return append(told, field.Invalid(field.NewPath("spec"), field.OmitValueType{}, "has more errors than those that are listed"))
		}
		told = append(told, err)
	}
	return told
}

// toldBytes is the size that an error has in the JSON of a response.
func toldBytes(err *field.Error) int {
	message, _ := json.Marshal(err.Error())  // a string cannot fail
	body, _ := json.Marshal(err.ErrorBody()) // a string cannot fail
	field, _ := json.Marshal(err.Field)      // a string cannot fail
	const keys = len(`{"reason":"FieldValueInvalid","message":,"field":},,`)
	return len(message) + len(body) + len(field) + keys
}

func shortened(err *field.Error) *field.Error {
	short := *err
	short.Field = shorten(err.Field, maxFieldBytes)
	short.Detail = shorten(err.Detail, maxDetailBytes)
	switch value := reflect.ValueOf(err.BadValue); value.Kind() {
	case reflect.String:
		if value.Len() > maxValueBytes {
			short.BadValue = shorten(value.String(), maxValueBytes)
		}
	case reflect.Slice, reflect.Map, reflect.Struct, reflect.Pointer:
		if text := fmt.Sprint(err.BadValue); len(text) > maxValueBytes {
			short.BadValue = shorten(text, maxValueBytes)
		}
	}
	return &short
}

// shorten returns at most so many bytes of a text, with "..." in place of the rest.
func shorten(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	end := bytes - len(ellipsis)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}
