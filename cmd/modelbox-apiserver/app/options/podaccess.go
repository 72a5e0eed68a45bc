// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"cmp"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/podaccess"
)

// PodAccessOptions says how much of the pods of boxes is led through this server.
type PodAccessOptions struct {
	// MaxStreams is how many connections there are at a time, of all users together.
	MaxStreams int
	// MaxStreamsPerNamespace is how many of them the pods of one namespace may have. 0 means two fifths of MaxStreams.
	MaxStreamsPerNamespace int
	// MaxStreamsPerUser is how many of them one user may have. 0 means a fifth of MaxStreams.
	MaxStreamsPerUser int
}

// NewPodAccessOptions returns the defaults.
func NewPodAccessOptions() *PodAccessOptions {
	return &PodAccessOptions{MaxStreams: 500}
}

// AddFlags adds the flags.
func (o *PodAccessOptions) AddFlags(fs *pflag.FlagSet) {
	fs.IntVar(&o.MaxStreams, "max-pod-streams", o.MaxStreams, "The maximum number of concurrent streams to pods on this server. Each log, exec, attach and portforward request for a box is one stream. Each further log that a request has open at the same time is another one. A stream takes about 200 KiB of memory. The server rejects further streams with status code 429.")
	fs.IntVar(&o.MaxStreamsPerNamespace, "max-pod-streams-per-namespace", o.MaxStreamsPerNamespace, "The maximum number of concurrent streams to the pods of one namespace. They also count against --max-pod-streams. If 0, it is two fifths of --max-pod-streams. The server rejects further streams with status code 429.")
	fs.IntVar(&o.MaxStreamsPerUser, "max-pod-streams-per-user", o.MaxStreamsPerUser, "The maximum number of concurrent streams of one user. They also count against --max-pod-streams. If 0, it is a fifth of --max-pod-streams. The server rejects further streams with status code 429.")
}

// Validate returns every error in the options.
func (o *PodAccessOptions) Validate() []error {
	var errs []error
	if o.MaxStreams < 1 {
		errs = append(errs, fmt.Errorf("--max-pod-streams: %d: must be at least 1", o.MaxStreams))
	}
	if o.MaxStreamsPerNamespace < 0 {
		errs = append(errs, fmt.Errorf("--max-pod-streams-per-namespace: %d: must be at least 1, or 0 for two fifths of --max-pod-streams", o.MaxStreamsPerNamespace))
	}
	if o.MaxStreamsPerUser < 0 {
		errs = append(errs, fmt.Errorf("--max-pod-streams-per-user: %d: must be at least 1, or 0 for a fifth of --max-pod-streams", o.MaxStreamsPerUser))
	}
	return errs
}

// Limits returns the limits of streams. With the defaults, neither one user nor the users of one namespace can take all streams.
func (o *PodAccessOptions) Limits() podaccess.Limits {
	return podaccess.Limits{
		Streams:             o.MaxStreams,
		StreamsPerNamespace: cmp.Or(o.MaxStreamsPerNamespace, max(1, o.MaxStreams/5*2)),
		StreamsPerUser:      cmp.Or(o.MaxStreamsPerUser, max(1, o.MaxStreams/5)),
	}
}
