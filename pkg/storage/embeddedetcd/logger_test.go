// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

// recorder returns a logger of the verbosity, and a function that returns its messages, prefixed with "error", or with "info" and
// their verbosity.
func recorder(t *testing.T, verbosity int) (klog.Logger, func() []string) {
	t.Helper()
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(verbosity)))
	return logger, func() []string {
		var logged []string
		for _, entry := range logger.GetSink().(ktesting.Underlier).GetBuffer().Data() {
			if entry.Type == ktesting.LogError {
				logged = append(logged, "error: "+entry.Message)
			} else {
				logged = append(logged, fmt.Sprintf("info %d: %s", entry.Verbosity, entry.Message))
			}
		}
		return logged
	}
}

func TestLevels(t *testing.T) {
	for _, row := range []struct {
		name      string
		verbosity int
		level     zapcore.Level
		message   string
		closing   bool
		want      []string
	}{
		{"an error is one", 0, zapcore.ErrorLevel, "disk full", false, []string{"error: disk full"}},
		{"a panic is an error", 0, zapcore.DPanicLevel, "corrupt", false, []string{"error: corrupt"}},
		{"an error while etcd is stopped is routine", 2, zapcore.ErrorLevel, "listener closed", true, []string{"info 2: listener closed"}},
		{"routine is not shown by default", 0, zapcore.ErrorLevel, "listener closed", true, nil},
		{"a harmless error is routine", 2, zapcore.ErrorLevel, "failed to update storage version", false, []string{"info 2: failed to update storage version"}},
		{"a warning is not shown by default", 0, zapcore.WarnLevel, "slow", false, nil},
		{"a warning is shown at 2", 2, zapcore.WarnLevel, "slow", false, []string{"info 2: slow"}},
		{"information is not shown at 3", 3, zapcore.InfoLevel, "elected", false, nil},
		{"information is shown at 4", 4, zapcore.InfoLevel, "elected", false, []string{"info 4: elected"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			logger, logged := recorder(t, row.verbosity)
			etcd := newEtcdLogger(logger)
			if row.closing {
				etcd.closing()
			}
			etcd.zap().Log(row.level, row.message)
			if diff := cmp.Diff(row.want, logged()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestFields(t *testing.T) {
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
	failure := errors.New("no space left")
	newEtcdLogger(logger).zap().With(zap.String("member", "modelbox")).Error("write failed", zap.Int("bytes", 8), zap.Error(failure))

	entries := logger.GetSink().(ktesting.Underlier).GetBuffer().Data()
	if len(entries) != 1 {
		t.Fatalf("got %d lines", len(entries))
	}
	if !errors.Is(entries[0].Err, failure) {
		t.Errorf("error: got %v, want %v", entries[0].Err, failure)
	}
	got := map[string]string{}
	for i := 0; i+1 < len(entries[0].ParameterKVList); i += 2 {
		got[fmt.Sprint(entries[0].ParameterKVList[i])] = fmt.Sprint(entries[0].ParameterKVList[i+1])
	}
	if diff := cmp.Diff(map[string]string{"member": "modelbox", "bytes": "8"}, got); diff != "" {
		t.Errorf("fields, -want +got:\n%s", diff)
	}
}

func TestALoggerWithFieldsDoesNotChangeTheOneItComesFrom(t *testing.T) {
	core := klogCore{etcdLogger: newEtcdLogger(klog.Background()), fields: make([]zapcore.Field, 0, 4)}
	one := core.With([]zapcore.Field{zap.String("a", "1")}).(klogCore)
	core.With([]zapcore.Field{zap.String("b", "2")})
	if len(core.fields) != 0 || one.fields[0].Key != "a" {
		t.Errorf("got %v and %v", core.fields, one.fields)
	}
}

func TestAHealthyServerLogsNoErrors(t *testing.T) {
	dir := newDir(t)
	for _, life := range []string{"in a new directory", "in an old directory"} {
		logger, logged := recorder(t, 0)
		server, err := Start(klog.NewContext(t.Context(), logger), Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		put(t, dir, "box", "web")
		server.Stop()
		if lines := logged(); len(lines) != 0 {
			t.Errorf("%s: %q", life, lines)
		}
	}
}
