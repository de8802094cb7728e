package javax.annotation;

/** What the generated sources are marked with; the JDK has it no longer, and a build with Maven or Gradle brings it. */
public @interface Generated {
    String[] value();

    String date() default "";

    String comments() default "";
}
