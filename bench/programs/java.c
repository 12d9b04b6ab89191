// SPDX-License-Identifier: Apache-2.0
// java LIBJVM SECONDS busy|sleep [JVM_OPTION…]: runs Truth.java in threads whose outermost frame is native, and has the chain of calls of the Java
// functions above it in a variable, as chain.c has. Whoever copies the stack copies the chain too.
#include <dlfcn.h>
#include <jni.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 3
#define DEPTH   512

struct chain {
	unsigned long magic[2];
	unsigned int depth, next;
	unsigned int calls[DEPTH];
};

static JavaVM *vm;
static jclass program;
static jmethodID run, up;
static double seconds;
static jboolean sleeps;

static void fail(const char *what)
{
	fprintf(stderr, "java: %s\n", what);
	exit(1);
}

static void down(JNIEnv *env, jclass class, jobject chain, jint id)
{
	(*env)->CallStaticVoidMethod(env, class, up, chain, id);
}

static void *outermost(void *arg)
{
	volatile struct chain c = { .magic = { 0x666c616d65746f70ul, 0x7472757468636861ul } };
	JNIEnv *env;

	if ((*vm)->AttachCurrentThread(vm, (void **)&env, NULL))
		fail("a thread is not attached");
	(*env)->CallStaticVoidMethod(env, program, run, (jlong)&c, (jlong)arg, sleeps, seconds);
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionDescribe(env);
	(*vm)->DetachCurrentThread(vm);
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		fail("usage: java LIBJVM SECONDS busy|sleep [JVM_OPTION…]");
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	if (!library)
		fail(dlerror());
	jint (*create)(JavaVM **, void **, void *) = dlsym(library, "JNI_CreateJavaVM");
	JavaVMOption *options = calloc(argc, sizeof(*options));
	for (int i = 4; i < argc; i++)
		options[i - 4].optionString = argv[i];
	JavaVMInitArgs args = { JNI_VERSION_1_8, argc - 4, options, JNI_FALSE };
	JNIEnv *env;
	if (!create || create(&vm, (void **)&env, &args))
		fail("there is no JVM");
	program = (*env)->FindClass(env, "Truth");
	if (!program || !(program = (*env)->NewGlobalRef(env, program)))
		fail("there is no class Truth");
	run = (*env)->GetStaticMethodID(env, program, "run", "(JJZD)V");
	up = (*env)->GetStaticMethodID(env, program, "up", "(LTruth$Chain;I)V");
	JNINativeMethod method = { "down", "(LTruth$Chain;I)V", (void *)down };
	if (!run || !up || (*env)->RegisterNatives(env, program, &method, 1))
		fail("the class Truth is another one");
	seconds = atof(argv[2]);
	sleeps = !strcmp(argv[3], "sleep");

	pthread_t threads[THREADS];
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, outermost, (void *)(i + 1)))
			fail("a thread does not start");
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
