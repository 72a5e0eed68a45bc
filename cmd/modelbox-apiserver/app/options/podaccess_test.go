// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/podaccess"
)

func TestPodStreamLimits(t *testing.T) {
	for _, row := range []struct {
		name  string
		flags []string
		want  podaccess.Limits
		// wantErr is the error of the flags, empty where they are valid.
		wantErr string
	}{
		{"the defaults", nil, podaccess.Limits{Streams: 500, StreamsPerNamespace: 200, StreamsPerUser: 100}, ""},
		{"another total", []string{"--max-pod-streams=100"}, podaccess.Limits{Streams: 100, StreamsPerNamespace: 40, StreamsPerUser: 20}, ""},
		{"a total of one", []string{"--max-pod-streams=1"}, podaccess.Limits{Streams: 1, StreamsPerNamespace: 1, StreamsPerUser: 1}, ""},
		{"all limits", []string{"--max-pod-streams=10", "--max-pod-streams-per-namespace=9", "--max-pod-streams-per-user=8"},
			podaccess.Limits{Streams: 10, StreamsPerNamespace: 9, StreamsPerUser: 8}, ""},
		{"no streams", []string{"--max-pod-streams=0"}, podaccess.Limits{}, "--max-pod-streams: 0: must be at least 1"},
		{"fewer than none of a namespace", []string{"--max-pod-streams-per-namespace=-1"}, podaccess.Limits{},
			"--max-pod-streams-per-namespace: -1: must be at least 1, or 0 for two fifths of --max-pod-streams"},
		{"fewer than none of a user", []string{"--max-pod-streams-per-user=-1"}, podaccess.Limits{},
			"--max-pod-streams-per-user: -1: must be at least 1, or 0 for a fifth of --max-pod-streams"},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := NewPodAccessOptions()
			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			o.AddFlags(flags)
			if err := flags.Parse(row.flags); err != nil {
				t.Fatal(err)
			}
			if err := utilerrors.NewAggregate(o.Validate()); err != nil || row.wantErr != "" {
				if err == nil || err.Error() != row.wantErr {
					t.Errorf("got the error %v, want %q", err, row.wantErr)
				}
				return
			}
			if diff := cmp.Diff(row.want, o.Limits()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
