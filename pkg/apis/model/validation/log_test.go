// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestValidateModelBoxLogOptions(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	for _, row := range []struct {
		name    string
		options model.ModelBoxLogOptions
		want    string // of the only error, empty for none
	}{
		{"nothing", model.ModelBoxLogOptions{}, ""},
		{"the least", model.ModelBoxLogOptions{TailLines: new(int64(0)), LimitBytes: new(int64(1)), SinceSeconds: new(int64(1)), MaxLogRequests: new(int64(1))}, ""},
		{"a container and all of them", model.ModelBoxLogOptions{Container: "main", AllContainers: true}, "container: Forbidden: may not be specified together with allContainers"},
		{"what has ended, followed", model.ModelBoxLogOptions{Follow: true, Previous: true}, "follow: Forbidden: may not be specified together with previous"},
		{"less than no line", model.ModelBoxLogOptions{TailLines: new(int64(-1))}, "tailLines: Invalid value: -1: must be greater than or equal to 0"},
		{"no bytes", model.ModelBoxLogOptions{LimitBytes: new(int64(0))}, "limitBytes: Invalid value: 0: must be greater than 0"},
		{"the future", model.ModelBoxLogOptions{SinceSeconds: new(int64(0))}, "sinceSeconds: Invalid value: 0: must be greater than 0"},
		{"two beginnings", model.ModelBoxLogOptions{SinceSeconds: new(int64(1)), SinceTime: &now}, "sinceSeconds: Forbidden: may not be specified together with sinceTime"},
		{"no logs at a time", model.ModelBoxLogOptions{MaxLogRequests: new(int64(0))}, "maxLogRequests: Invalid value: 0: must be between 1 and 1000"},
		{"too many logs at a time", model.ModelBoxLogOptions{MaxLogRequests: new(int64(1001))}, "maxLogRequests: Invalid value: 1001: must be between 1 and 1000"},
	} {
		errs := ValidateModelBoxLogOptions(&row.options)
		if row.want == "" && len(errs) == 0 || len(errs) == 1 && row.want != "" && strings.Contains(errs[0].Error(), row.want) {
			continue
		}
		t.Errorf("%s: got %v, want %q", row.name, errs, row.want)
	}
}
